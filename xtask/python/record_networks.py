"""What the reference's network computes: golden/networks/CASE.safetensors.

`record_networks.py --case JSON --out FILE` records any other case.
"""
import argparse
import json
import pathlib

import network
from safetensors.numpy import save_file


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", required=True, type=json.loads, help="settings as a JSON object; network.DEFAULTS for the rest")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="the safetensors file to write")
    parser.add_argument("--tries", type=int, default=network.TRIES, help="seeds to try for one without near-ties; 0: do not look")
    arguments = parser.parse_args()
    named, metadata = network.record(arguments.case, arguments.tries)
    save_file(named, arguments.out, metadata)


if __name__ == "__main__":
    main()
