"""A quote, a trade and its fill with the package sluice-client. Run it in the folder that holds certs/."""
import os
import sys
import uuid

from sluice_client import SluiceClient

CHAIN, NETWORK, EXCHANGE = "ethereum", "local", "uniswap"
ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
# Keep the key with the order: whoever sends the same request with it again trades once.
KEY = sys.argv[1] if len(sys.argv) > 1 else str(uuid.uuid4())

with SluiceClient(os.environ.get("SLUICE_URL", "https://localhost:15888"), certs=os.environ.get("SLUICE_CERTS", "certs")) as sluice:
    quote = sluice.get(
        "/amm/price",
        {"chain": CHAIN, "network": NETWORK, "connector": EXCHANGE, "base": "ETH", "quote": "USDC", "amount": "1", "side": "SELL"},
    )
    print(f"quote: {quote['expectedAmount']} USDC for {quote['amount']} ETH")

    trade = sluice.post(
        "/amm/trade",
        {
            "chain": CHAIN,
            "network": NETWORK,
            "connector": EXCHANGE,
            "base": "ETH",
            "quote": "USDC",
            "amount": "1",
            "side": "SELL",
            "address": ADDRESS,
            "limitPrice": quote["slippagePrice"],
        },
        idempotency_key=KEY,
    )
    print(f"sent: {trade['txHash']}")

    poll = sluice.wait_for(trade["txHash"], chain=CHAIN, network=NETWORK)
    fill = poll.get("fill")
    if fill is not None and "amountIn" in fill:
        print(f"{poll['txState']}: {fill['amountIn']} ETH for {fill['amountOut']} USDC")
    else:
        print(f"{poll['txState']}: {poll.get('reason')}")
