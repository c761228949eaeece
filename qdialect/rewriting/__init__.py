"""The greedy driver of rewrite patterns, changes of the IR, the pass manager, remarks."""
