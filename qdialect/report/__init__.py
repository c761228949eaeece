"""The account of a compilation: layers and why they are in float, the verdict, the page."""
