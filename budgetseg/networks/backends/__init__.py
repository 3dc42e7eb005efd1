"""Back ends: the libraries that networks run in, behind one small contract."""
