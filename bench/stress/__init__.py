"""What a service must bear: kills, power cuts, crowds, years. A room knows lib and no other room."""
