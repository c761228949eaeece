"""Rewrite patterns and analyses that several passes share."""
