// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Tries swaps in pools of concentrated liquidity, for pools whose own code decides what a swap gives. Meant to run as creation code inside
/// `eth_call`: it reverts with what it saw, and nothing is ever deployed.
///
/// For each swap come 97 bytes: 0 where the gas ended before it, 1 where the pool refused it, 2 where it worked (1), what the pool took of
/// token0 and of token1, below 0 where it gave (32, 32), and the gas that it used (32). After one that the gas ended before come only such.
///
/// No swap leaves anything to the next one: neither what is written nor which addresses and slots are warm (EIP-2929), so that each uses the gas that it
/// would use alone. The same holds of what is called before, where that reverts as this does.
contract SwapTrial {
    struct Swap {
        // The pool, or the contract that keeps all pools.
        address target;
        bool zeroForOne;
        // Above 0 an input, below 0 an output.
        int256 amount;
        // Where a contract keeps all pools, as Uniswap v4's PoolManager: the call of its swap, which it takes while it is unlocked.
        bytes kept;
    }

    /// A pool that uses more refuses.
    uint256 private constant mostGas = 3_000_000;

    /// `secret`: whatever a plugin of a pool cannot know, so that only the pool's own callback is believed.
    constructor(bytes32 secret, Swap[] memory swaps) {
        // Whatever else is in the batch keeps half of the gas.
        uint256 reserve = gasleft() / 2;
        bytes memory answer = new bytes(97 * swaps.length);
        // A pool calls back only what has code, and this has none before its constructor is done.
        Swapper swapper = new Swapper(secret);
        for (uint256 i = 0; i < swaps.length; i++) {
            uint256 left = gasleft();
            bool isFirst = i == 0;
            if (!isFirst && left < reserve + 500_000) break;
            uint256 given = left < reserve + mostGas ? (left > reserve ? left - reserve : left) : mostGas;
            (, bytes memory told) = address(swapper).call{gas: given}(abi.encodeCall(Swapper.tries, (swaps[i])));
            (bool done, int256 amount0, int256 amount1, uint256 used) = (false, int256(0), int256(0), left - gasleft());
            if (told.length == 128) (done, amount0, amount1, used) = abi.decode(told, (bool, int256, int256, uint256));
            // It may have refused for lack of gas.
            if (!done && !isFirst && given < mostGas) break;
            assembly {
                let to := add(add(answer, 32), mul(97, i))
                mstore8(to, add(1, done))
                mstore(add(to, 1), amount0)
                mstore(add(to, 33), amount1)
                mstore(add(to, 65), used)
            }
        }
        assembly {
            revert(add(answer, 32), mload(answer))
        }
    }
}

contract Swapper {
    error Swapped(bytes32 secret, int256 amount0, int256 amount1);

    // IPoolManager and IUnlockCallback of @uniswap/v4-core@1.0.2.
    bytes4 private constant unlock = 0x48c89491;
    bytes4 private constant unlockCallback = 0x91dd7346;

    // In storage, which no other contract reads.
    bytes32 private secret;
    address private target;
    address private immutable owner = msg.sender;

    constructor(bytes32 secret_) {
        secret = secret_;
    }

    /// Reverts with (bool done, int256 amount0, int256 amount1, uint256 used).
    function tries(SwapTrial.Swap calldata swap) external {
        // A plugin that could call it would be told the secret.
        require(msg.sender == owner);
        target = swap.target;
        bytes memory call = swap.kept.length > 0 ? abi.encodeWithSelector(unlock, swap.kept) : swapOf(swap);
        uint256 left = gasleft();
        (bool ok, bytes memory reason) = swap.target.call{gas: left - left / 32}(call);
        uint256 used = left - gasleft();
        bytes32 told;
        if (!ok && reason.length == 100 && bytes4(reason) == Swapped.selector)
            assembly {
                told := mload(add(reason, 36))
            }
        bool done = told != 0 && told == secret;
        assembly {
            let answer := mload(64)
            mstore(answer, done)
            mstore(add(answer, 32), mul(done, mload(add(reason, 68))))
            mstore(add(answer, 64), mul(done, mload(add(reason, 100))))
            mstore(add(answer, 96), used)
            revert(answer, 128)
        }
    }

    /// The same in Uniswap v3 and in Algebra.
    function swapOf(SwapTrial.Swap calldata swap) private view returns (bytes memory) {
        // TickMath of @uniswap/v3-core@1.0.1: one beyond the prices at the ends.
        uint160 limit = swap.zeroForOne ? 4295128740 : 1461446703485210103287273052203988822378723970341;
        return
            abi.encodeWithSignature(
                "swap(address,bool,int256,uint160,bytes)",
                address(this),
                swap.zeroForOne,
                swap.amount,
                limit,
                ""
            );
    }

    /// The callback of the pool, which every fork names in its own way: it begins with both amounts. Or that of a contract that is unlocked, with
    /// the call to be made. Reverting hands the amounts back and undoes the swap.
    fallback() external {
        require(msg.sender == target);
        if (msg.sig != unlockCallback) {
            (int256 amount0, int256 amount1) = abi.decode(msg.data[4:], (int256, int256));
            revert Swapped(secret, amount0, amount1);
        }
        (bool ok, bytes memory answer) = msg.sender.call(abi.decode(msg.data[4:], (bytes)));
        require(ok && answer.length == 32);
        // BalanceDelta: both amounts in one word, below 0 where the pool took them.
        int256 delta = abi.decode(answer, (int256));
        revert Swapped(secret, -(delta >> 128), -int256(int128(delta)));
    }
}
