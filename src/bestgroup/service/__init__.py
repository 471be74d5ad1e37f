"""The HTTP service and its page: a thin edge over the study API (`bestgroup serve`)."""
