"""Live studies: ask, tell, storage, workers, solve."""
