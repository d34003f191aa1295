"""Renderings of what was decided; no decisions are made here."""
