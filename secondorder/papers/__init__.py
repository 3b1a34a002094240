"""The papers, a room each; what they share stands below them, and none knows another."""
