"""Speed of the environments, compared with memory copies and other libraries in the same run."""
