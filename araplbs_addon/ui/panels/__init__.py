"""The tab in the sidebar, a panel or a box of it a file, and entries in menus.
Panels draw settings and what operators have kept; they compute nothing."""
