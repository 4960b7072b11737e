#!/usr/bin/env python3
"""Starts rocm-smi with the Python of its release: smi.py PYTHON SCRIPT ARGS

It starts Python again for a helper of multiprocessing, by the path of the executable; that would be run by this system's
loader, without the libraries that it needs. PYTHON is the script that sees to it.
"""
import multiprocessing.spawn
import os
import runpy
import sys

multiprocessing.spawn.set_executable(sys.argv[1])
sys.argv = sys.argv[2:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
