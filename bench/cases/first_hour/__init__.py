"""The first hour with moild: what a newcomer types, waits for and gets.

__main__ is the command line, hour.py a device from nothing to its first night; strangers.py, calibration.py and page.py
say how far its answers and its page can be trusted.
"""
