"""The rules of every game once more: slow, plain Python, written from the rules text alone.

They are the oracle for the native engine and never imported by the package.
"""
