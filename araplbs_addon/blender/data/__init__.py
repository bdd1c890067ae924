"""Data that the add-on stores in a file, and facts about objects, bones
and modifiers that several rooms need. No code here evaluates poses."""
