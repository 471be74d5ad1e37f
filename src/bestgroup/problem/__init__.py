"""What is asked and what is assumed: problems, instances, goals, noise models, laws."""
