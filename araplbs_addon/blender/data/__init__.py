"""Data that the add-on stores in a file, and facts about objects, bones and modifiers that several
folders need. No code in this folder evaluates poses."""
