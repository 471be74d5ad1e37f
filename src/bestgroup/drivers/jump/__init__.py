"""The jump engine: exact in law, by passing over rounds in which nothing can happen."""
