"""Training and evaluation scripts."""
