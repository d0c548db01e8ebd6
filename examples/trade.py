"""A quote, an approval, a trade and its fill, with nothing but Python. Run it in the folder that holds certs/."""
import json
import os
import ssl
import time
import uuid
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

URL = os.environ.get("SLUICE_URL", "https://localhost:15888")
CERTS = os.environ.get("SLUICE_CERTS", "certs")
TLS = ssl.create_default_context(cafile=f"{CERTS}/ca_cert.pem")
TLS.load_cert_chain(f"{CERTS}/client_cert.pem", f"{CERTS}/client_key.pem")


def call(method, path, fields, headers={}):
    target, body = f"{URL}{path}", None
    if method == "GET":
        target += f"?{urlencode(fields)}"
    else:
        body = json.dumps(fields).encode()
    request = Request(target, body, {"Content-Type": "application/json", **headers}, method=method)
    try:
        with urlopen(request, context=TLS, timeout=40) as response:
            return json.load(response)
    except HTTPError as error:
        answer = json.load(error)
        raise SystemExit(f"{answer['name']}: {answer['message']}") from None


def mined(tx_hash):
    while True:
        poll = call("GET", "/network/poll", {**network, "txHash": tx_hash})
        if poll["txStatus"] == 1:
            return poll
        if poll["txStatus"] == -1:
            raise SystemExit(f"{tx_hash} will never be mined ({poll.get('txState')})")
        time.sleep(0.25)


network = {"chain": "ethereum", "network": "local"}
address = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
swap = {**network, "connector": "uniswap", "base": "WETH", "quote": "USDC", "amount": "1", "side": "SELL"}

quote = call("GET", "/amm/price", {**swap, "address": address})
print(f"quote: {quote['expectedAmount']} USDC for {quote['amount']} WETH at block {quote['blockNumber']}")

if not quote["allowance"]["sufficient"]:
    approval = {**network, "address": address, "spender": "uniswap", "token": "WETH", "amount": "10"}
    mined(call("POST", "/evm/approve", approval)["txHash"])

# Keep the key with the order: when the answer is lost, the same request with the same key gives it again.
key = {"Idempotency-Key": str(uuid.uuid4())}
trade = call("POST", "/amm/trade", {**swap, "address": address, "limitPrice": quote["slippagePrice"]}, key)
print(f"sent: {trade['txHash']}, worst price {trade['limitPrice']}")

poll = mined(trade["txHash"])
if poll["txReceipt"]["status"] == 0:
    raise SystemExit("The trade was reverted: it cost its gas and nothing else.")
print(f"fill: {poll['fill']['amountIn']} WETH for {poll['fill']['amountOut']} USDC, price {poll['fill']['price']}")
