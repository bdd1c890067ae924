"""What is seen: sidebar panel and menu entries."""
