"""Make a Python wheel of the binaries, using only the standard library: wheel.py VERSION BUILD-FOLDER OUT-FOLDER.

`pip install` of the file puts rtl-top on the path of the virtual environment; `python -m rtl_top run -- serve.py` works, too.
rtl-top uses the system's libraries: ncurses, json-c, SQLite, zlib, libmicrohttpd.
"""
import base64
import hashlib
import os
import platform
import sys
import zipfile

MAIN = '''"""rtl-top as a module: python -m rtl_top run -- serve.py"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    program = os.path.join(HERE, "rtl-top")
    os.execv(program, ["rtl-top"] + sys.argv[1:])


if __name__ == "__main__":
    main()
'''


def main(version, build, out):
    tag = f"py3-none-linux_{platform.machine()}"
    info = f"rtl_top-{version}.dist-info"
    files = {"rtl_top/__init__.py": (b'"""Live statistics of the GPU kernels of a ROCm process."""\n', 0o644)}
    files["rtl_top/__main__.py"] = (MAIN.encode(), 0o644)
    # beside rtl-top, where rtl-top looks first for librtl.so
    for name, mode in (("rtl-top", 0o755), ("librtl.so", 0o644), ("librtl-hip.so", 0o644)):
        with open(os.path.join(build, name), "rb") as binary:
            files["rtl_top/" + name] = (binary.read(), mode)
    with open("LICENSE", "rb") as text:
        files[info + "/LICENSE"] = (text.read(), 0o644)
    files[info + "/METADATA"] = (
        (f"Metadata-Version: 2.1\nName: rtl-top\nVersion: {version}\nLicense: MIT\nRequires-Python: >=3.7\n"
         "Summary: live statistics of the GPU kernels of a ROCm process\n").encode(), 0o644)
    files[info + "/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: rtl-top\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644)
    files[info + "/entry_points.txt"] = (b"[console_scripts]\nrtl-top = rtl_top.__main__:main\n", 0o644)
    record = ""
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[info + "/RECORD"] = ((record + info + "/RECORD,,\n").encode(), 0o644)
    path = os.path.join(out, f"rtl_top-{version}-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    print(path)


main(*sys.argv[1:])
