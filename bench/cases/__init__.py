"""What is measured on data, a room each. A room knows lib and no other room."""
