"""The page of labels: `moilctl label review` as a process, and a headless browser before it."""
