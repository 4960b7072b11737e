#!/usr/bin/env python3
"""Start rocm-smi with the Python of its release: smi.py PYTHON SCRIPT ARGS

multiprocessing starts Python again by the path of the executable, which this system's loader would run without the libraries
of the release. PYTHON is the script that starts it correctly.
"""
import multiprocessing.spawn
import os
import runpy
import sys

multiprocessing.spawn.set_executable(sys.argv[1])
sys.argv = sys.argv[2:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
