// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

interface IStablePool {
    function get_dy(int128 i, int128 j, uint256 dx) external view returns (uint256);
    function exchange(int128 i, int128 j, uint256 dx, uint256 min_dy) external;
}

interface IWrappedCoin {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

/// Trades with pools of the StableSwap invariant, of which neither knows deadlines nor exact amounts out. It has no owner, keeps
/// nothing from one transaction to the next, and moves the tokens of nobody but the sender.
contract StableRouter {
    struct Hop {
        address pool;
        int128 i;
        int128 j;
        address tokenOut;
    }

    /// Where the coin itself goes in or comes out, the token is the wrapped one.
    struct Terms {
        address tokenIn;
        address recipient;
        bool unwrap;
        uint256 deadline;
    }

    event Swapped(address indexed sender, address indexed recipient, address tokenIn, address tokenOut, uint256 amountIn, uint256 amountOut);

    /// What a configuration is checked by.
    uint256 public constant stableRouter = 1;
    uint256 private constant mostTries = 32;

    receive() external payable {}

    /// Sells an exact amount along pools.
    function sell(Terms calldata terms, uint256 amountIn, uint256 leastOut, Hop[] calldata hops) public payable returns (uint256 amountOut) {
        require(block.timestamp <= terms.deadline, "StableRouter: EXPIRED");
        amountOut = take(terms.tokenIn, amountIn);
        address token = terms.tokenIn;
        for (uint256 k = 0; k < hops.length; k++) {
            amountOut = pass(token, hops[k], amountOut);
            token = hops[k].tokenOut;
        }
        require(amountOut >= leastOut, "StableRouter: INSUFFICIENT_OUTPUT_AMOUNT");
        give(terms, token, amountOut);
        emit Swapped(msg.sender, terms.recipient, terms.tokenIn, token, amountIn, amountOut);
    }

    /// Buys at least an amount for `likelyIn`, and for more, up to `mostIn`, only where that has come to give less. All that
    /// comes out is the recipient's.
    function buy(Terms calldata terms, uint256 leastOut, uint256 likelyIn, uint256 mostIn, Hop[] calldata hops) external payable returns (uint256 amountIn, uint256 amountOut) {
        amountIn = inputFor(hops, leastOut, likelyIn);
        require(amountIn <= mostIn, "StableRouter: EXCESSIVE_INPUT_AMOUNT");
        amountOut = sell(terms, amountIn, leastOut, hops);
    }

    /// The price gets worse with the amount, so that more by the average price is never too much.
    function inputFor(Hop[] calldata hops, uint256 leastOut, uint256 amountIn) private view returns (uint256) {
        if (promised(hops, amountIn, 0) >= leastOut) return amountIn;
        uint256 out = promised(hops, amountIn, 1);
        for (uint256 k = 0; k < mostTries && out < leastOut; k++) {
            require(out > 0, "StableRouter: INSUFFICIENT_LIQUIDITY");
            amountIn += ((leastOut - out) * amountIn) / out + 1;
            out = promised(hops, amountIn, 1);
        }
        return amountIn;
    }

    /// @param doubt what each pool may give less than it promises: of the oldest ones it is one unit
    function promised(Hop[] calldata hops, uint256 amount, uint256 doubt) private view returns (uint256) {
        for (uint256 k = 0; k < hops.length; k++) {
            uint256 out = IStablePool(hops[k].pool).get_dy(hops[k].i, hops[k].j, amount);
            amount = out > doubt ? out - doubt : 0;
        }
        return amount;
    }

    /// From the coins that were sent, where some were; what is not used of them goes back.
    function take(address token, uint256 amount) private returns (uint256) {
        if (msg.value > 0) {
            require(msg.value >= amount, "StableRouter: INSUFFICIENT_VALUE");
            IWrappedCoin(token).deposit{value: amount}();
            if (msg.value > amount) pay(msg.sender, msg.value - amount);
            return amount;
        }
        uint256 before = held(token);
        call(token, abi.encodeWithSignature("transferFrom(address,address,uint256)", msg.sender, address(this), amount));
        return held(token) - before;
    }

    function pass(address token, Hop calldata hop, uint256 amount) private returns (uint256) {
        uint256 before = held(hop.tokenOut);
        approve(token, hop.pool, amount);
        IStablePool(hop.pool).exchange(hop.i, hop.j, amount, 0);
        // Nothing may stay allowed, to whatever somebody called a pool.
        approve(token, hop.pool, 0);
        return held(hop.tokenOut) - before;
    }

    function give(Terms calldata terms, address token, uint256 amount) private {
        if (terms.unwrap) {
            IWrappedCoin(token).withdraw(amount);
            pay(terms.recipient, amount);
        } else {
            call(token, abi.encodeWithSignature("transfer(address,uint256)", terms.recipient, amount));
        }
    }

    function held(address token) private view returns (uint256 amount) {
        (bool ok, bytes memory answer) = token.staticcall(abi.encodeWithSignature("balanceOf(address)", address(this)));
        require(ok && answer.length >= 32, "StableRouter: NO_TOKEN");
        amount = abi.decode(answer, (uint256));
    }

    function approve(address token, address pool, uint256 amount) private {
        call(token, abi.encodeWithSignature("approve(address,uint256)", pool, amount));
    }

    /// Some tokens return nothing.
    function call(address token, bytes memory data) private {
        (bool ok, bytes memory answer) = token.call(data);
        if (!ok) {
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
        require(answer.length == 0 || abi.decode(answer, (bool)), "StableRouter: TRANSFER_FAILED");
    }

    function pay(address to, uint256 amount) private {
        (bool ok, ) = to.call{value: amount}("");
        require(ok, "StableRouter: PAYMENT_FAILED");
    }
}
