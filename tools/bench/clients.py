"""The same quotes by the Python client and by httpx. Prints a line of JSON for each round.

clients.py <folder of sluice_client> <url> <folder of the certificates> <quotes of a round> <rounds>
"""
import json
import ssl
import statistics
import sys
import time

sys.path.insert(0, sys.argv[1])
import httpx  # noqa: E402
from sluice_client import SluiceClient  # noqa: E402

url, certs, count, rounds = sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
context = ssl.create_default_context(cafile=f"{certs}/ca_cert.pem")
context.load_cert_chain(f"{certs}/client_cert.pem", f"{certs}/client_key.pem")
bare = httpx.Client(base_url=url, verify=context)
client = SluiceClient(url, certs=certs)


def fields(index):
    return {
        "chain": "ethereum",
        "network": "local",
        "connector": "uniswap",
        "base": "WETH",
        "quote": "USDC",
        "amount": str(1 + index % 997 / 1000),
        "side": "SELL" if index % 2 == 0 else "BUY",
    }


def measure(ask):
    times = []
    cpu = time.process_time()
    for index in range(count):
        at = time.perf_counter()
        if not isinstance(ask(fields(index))["price"], str):
            raise ValueError("There is no price in the answer.")
        times.append(time.perf_counter() - at)
    return {"micros": statistics.median(times) * 1e6, "cpuMicros": (time.process_time() - cpu) / count * 1e6}


ways = {"bare": lambda asked: bare.get("/amm/price", params=asked).json(), "client": lambda asked: client.get("/amm/price", asked)}
for _ in range(rounds):
    for name, ask in ways.items():
        print(json.dumps({"way": name, **measure(ask)}), flush=True)
client.close()
bare.close()
