"""What a failure costs on a large machine, and how to keep the job running."""
