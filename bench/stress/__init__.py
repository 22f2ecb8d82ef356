"""What a service must bear: kills, power cuts, crowds, years. A room knows lib; crash asks by what stall watches with."""
