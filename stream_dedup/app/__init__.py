"""What people and operators touch: settings, commands, the worker and its pages."""
