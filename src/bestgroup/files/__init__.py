"""Files that people write and read: problem files and tables of observations."""
