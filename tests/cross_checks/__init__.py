"""What the comparisons with other programs need: how those programs differ, made executable."""
