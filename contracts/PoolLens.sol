// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Reads pools of concentrated liquidity with the ticks around their prices. Meant to run as creation code inside `eth_call`:
/// it reverts with what it saw, so that no limit on the size of code applies, and nothing is ever deployed.
///
/// A pool is asked for in 32 bytes: its address (20), then how many words of the tick bitmap to read below the price (2) and
/// how many ticks at most (2), the same above (2, 2), and 4 that are not used. Of each, in order, comes one byte, 0 where there
/// is no pool or no price yet, else 1 and:
///   sqrtPriceX96 (20), tick (3), liquidity (16), fee (3), tickSpacing (3),
///   ticks below the price (2) and above (2), two multiples of tickSpacing (3, 3) between which no initialised tick is left out,
///   the ticks below, falling, then those above, rising: tick (3), liquidityGross (16), liquidityNet (16).
contract PoolLens {
    int256 private constant mostTick = 887272; // TickMath of @uniswap/v3-core@1.0.1

    /// One look from the price in one direction.
    struct Look {
        address pool;
        int256 tickSpacing;
        uint256 words;
        uint256 ticks;
        uint256 leastGas;
        uint256 to;
    }

    constructor(bytes32[] memory wanted) {
        Look memory look;
        // Whatever else is in the batch keeps half of the gas: a look that costs more ends early.
        look.leastGas = gasleft() / 2;
        uint256 from;
        assembly {
            from := mload(64)
        }
        look.to = from;
        for (uint256 i = 0; i < wanted.length; i++) read(look, uint256(wanted[i]));
        uint256 to = look.to;
        assembly {
            revert(from, sub(to, from))
        }
    }

    function read(Look memory look, uint256 wanted) private view {
        look.pool = address(uint160(wanted >> 96));
        // Forks differ in what follows these two of slot0.
        (uint256 sqrtPriceX96, uint256 tick) = ask(look.pool, 0x3850c7bd, 0); // slot0()
        if (sqrtPriceX96 == 0) return put(look, 0, 1);
        (uint256 liquidity, ) = ask(look.pool, 0x1a686502, 0); // liquidity()
        (uint256 fee, ) = ask(look.pool, 0xddca3f43, 0); // fee()
        (uint256 tickSpacing, ) = ask(look.pool, 0xd0c93a7c, 0); // tickSpacing()
        put(look, 1, 1);
        put(look, sqrtPriceX96, 20);
        put(look, tick, 3);
        put(look, liquidity, 16);
        put(look, fee, 3);
        put(look, tickSpacing, 3);
        uint256 counts = look.to;
        look.to += 10;

        look.tickSpacing = int256(tickSpacing);
        int256 compressed = int256(tick) / look.tickSpacing;
        if (int256(tick) < 0 && int256(tick) % look.tickSpacing != 0) compressed--;
        (look.words, look.ticks) = (uint16(wanted >> 80), uint16(wanted >> 64));
        (uint256 below, int256 endBelow) = walk(look, compressed, false);
        (look.words, look.ticks) = (uint16(wanted >> 48), uint16(wanted >> 32));
        (uint256 above, int256 endAbove) = walk(look, compressed + 1, true);

        uint256 packed = (below << 64) | (above << 48) | (uint256(uint24(int24(endBelow))) << 24) | uint24(int24(endAbove));
        // The last write would reach into the ticks that follow.
        assembly {
            let kept := and(mload(counts), sub(shl(176, 1), 1))
            mstore(counts, or(shl(176, packed), kept))
        }
    }

    /// The initialised ticks from here on, and where those end of which anything is known: at one that was not read, or behind a word.
    function walk(Look memory look, int256 from, bool up) private view returns (uint256 count, int256 end) {
        int256 word = from >> 8;
        uint256 within = up ? type(uint256).max << (uint256(from) & 255) : type(uint256).max >> (255 - (uint256(from) & 255));
        for (uint256 words = look.words; ; words--) {
            (uint256 bitmap, ) = ask(look.pool, 0x5339c296, word); // tickBitmap(int16)
            bitmap &= within;
            within = type(uint256).max;
            while (bitmap != 0) {
                uint256 bit = highest(up ? bitmap & (~bitmap + 1) : bitmap);
                end = ((word << 8) + int256(bit)) * look.tickSpacing;
                if (count == look.ticks || gasleft() < look.leastGas) return (count, end);
                (uint256 liquidityGross, uint256 liquidityNet) = ask(look.pool, 0xf30dba93, end); // ticks(int24)
                put(look, uint256(end), 3);
                put(look, liquidityGross, 16);
                put(look, liquidityNet, 16);
                count++;
                bitmap ^= 1 << bit;
            }
            end = ((word << 8) + (up ? int256(256) : int256(-1))) * look.tickSpacing;
            if (words <= 1 || end < -mostTick || end > mostTick || gasleft() < look.leastGas) return (count, end);
            word += up ? int256(1) : int256(-1);
        }
    }

    /// The lowest bytes of a value, after what was put before.
    function put(Look memory look, uint256 value, uint256 size) private pure {
        uint256 to = look.to;
        assembly {
            mstore(to, shl(sub(256, mul(8, size)), value))
        }
        look.to = to + size;
    }

    /// The first two words of an answer; 0 where there is none.
    function ask(address target, uint256 selector, int256 argument) private view returns (uint256 first, uint256 second) {
        assembly {
            mstore(0, shl(224, selector))
            mstore(4, argument)
            let ok := staticcall(gas(), target, 0, 36, 0, 64)
            if and(ok, gt(returndatasize(), 31)) {
                first := mload(0)
                second := mload(32)
            }
        }
    }

    function highest(uint256 bits) private pure returns (uint256 bit) {
        for (uint256 step = 128; step > 0; step >>= 1) {
            if (bits >> step != 0) {
                bits >>= step;
                bit += step;
            }
        }
    }
}
