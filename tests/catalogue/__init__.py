"""Known statements of the literature about mechanisms, each as one comparable claim."""
