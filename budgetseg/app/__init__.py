"""What users do: load a model, label, resume, replay, export."""
