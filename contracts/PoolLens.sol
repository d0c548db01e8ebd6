// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Reads pools of concentrated liquidity with the ticks around their prices. Meant to run as creation code inside `eth_call`:
/// it reverts with what it saw, so that no limit on the size of code applies, and nothing is ever deployed.
///
/// What is asked for comes in 32 bytes: a pool's address (20), eight bytes by the kind of the question, the kind (1), how many words
/// of an empty range to read (2), and one that is not used. A kind of
///   0: the pool. How many words of the tick bitmap to read below the price (2) and how many ticks at most (2), the same above (2, 2).
///   1, 2: ticks alone, downward or upward from a tick (3) that may be one of them: words (2), ticks (2), one that is not used.
/// Where one contract keeps all pools, as Uniswap v4's PoolManager does, 128 is added to the kind, the address is the contract's, and 64
/// bytes follow: the pool's id (32) and its tickSpacing (32).
/// For a pool comes one byte, 0 where there is no pool or no price yet, else 1 and sqrtPriceX96 (20), tick (3), liquidity (16), fee (3),
/// tickSpacing (3), of a contract that keeps all pools the protocol's fees (3), the look below and the look above. For ticks alone comes
/// one look. A look is:
///   1 where all of it was read, 0 where the gas ended (1), the number of ticks (2), the multiple of tickSpacing up to which none is
///   left out (3), and in the direction of the look of each tick: tick (3), liquidityGross (16), liquidityNet (16).
contract PoolLens {
    int256 internal constant mostTick = 887272; // TickMath of @uniswap/v3-core@1.0.1
    /// Eight words and six ticks take 85,000, as measured on anvil.
    uint256 private constant lookGas = 120_000;

    /// One look in one direction.
    struct Look {
        address pool;
        // Where a contract that keeps all pools stores this one; 0 for a pool that is a contract.
        uint256 stored;
        int256 tickSpacing;
        uint256 words;
        uint256 ticks;
        // Where there is no liquidity, so many words are read until the first tick.
        uint256 emptyWords;
        uint256 leastGas;
        uint256 to;
    }

    constructor(bytes32[] memory wanted) {
        Look memory look;
        // Whatever else is in the batch keeps half of the gas.
        uint256 reserve = gasleft() / 2;
        uint256 from;
        assembly {
            from := mload(64)
        }
        look.to = from;
        uint256 looks;
        for (uint256 i = 0; i < wanted.length; i += sizeOf(uint256(wanted[i]))) looks += kindOf(uint256(wanted[i])) == 0 ? 2 : 1;
        for (uint256 i = 0; i < wanted.length; i += sizeOf(uint256(wanted[i]))) {
            look.stored = 0;
            if (sizeOf(uint256(wanted[i])) > 1) {
                // StateLibrary of @uniswap/v4-core@1.0.2: the mapping of pools is in slot 6.
                look.stored = hash(uint256(wanted[i + 1]), 6);
                look.tickSpacing = int256(uint256(wanted[i + 2]));
            }
            looks = read(look, uint256(wanted[i]), reserve, looks);
        }
        uint256 to = look.to;
        assembly {
            revert(from, sub(to, from))
        }
    }

    function kindOf(uint256 wanted) private pure returns (uint256) {
        return uint8(wanted >> 24) & 127;
    }

    /// In words.
    function sizeOf(uint256 wanted) private pure returns (uint256) {
        return (wanted >> 31) & 1 == 1 ? 3 : 1;
    }

    /// Returns how many looks are left.
    function read(Look memory look, uint256 wanted, uint256 reserve, uint256 looks) private view returns (uint256) {
        look.pool = address(uint160(wanted >> 96));
        if (kindOf(wanted) == 0) return readPool(look, wanted, reserve, looks);
        if (look.stored == 0) look.tickSpacing = spacingOf(look.pool);
        (look.words, look.ticks, look.emptyWords) = (uint16(wanted >> 56), uint16(wanted >> 40), uint16(wanted >> 8));
        share(look, reserve, looks);
        if (look.tickSpacing > 0) walk(look, int256(int24(uint24(wanted >> 72))) / look.tickSpacing, kindOf(wanted) == 2);
        return looks - 1;
    }

    function readPool(Look memory look, uint256 wanted, uint256 reserve, uint256 looks) private view returns (uint256) {
        int256 tick;
        {
            uint256 liquidity;
            (tick, liquidity) = look.stored == 0 ? putPool(look) : putStored(look);
            look.emptyWords = liquidity == 0 ? uint16(wanted >> 8) : 0;
        }
        if (look.tickSpacing == 0) return looks - 2;
        int256 compressed = tick / look.tickSpacing;
        if (tick < 0 && tick % look.tickSpacing != 0) compressed--;
        (look.words, look.ticks) = (uint16(wanted >> 80), uint16(wanted >> 64));
        share(look, reserve, looks);
        walk(look, compressed, false);
        (look.words, look.ticks) = (uint16(wanted >> 48), uint16(wanted >> 32));
        share(look, reserve, looks - 1);
        walk(look, compressed + 1, true);
        return looks - 2;
    }

    /// Of a pool that is a contract, all but its ticks. A tick spacing of 0 says that there is no pool.
    function putPool(Look memory look) internal view virtual returns (int256 tick, uint256 liquidity) {
        // Forks differ in what follows these two of slot0.
        (uint256 sqrtPriceX96, uint256 second) = ask(look.pool, priceSelector(), 0);
        tick = int256(second);
        if (sqrtPriceX96 == 0) {
            look.tickSpacing = 0;
            put(look, 0, 1);
            return (tick, 0);
        }
        (liquidity, ) = ask(look.pool, 0x1a686502, 0); // liquidity()
        uint256 fee = feeOf(look.pool);
        look.tickSpacing = spacingOf(look.pool);
        put(look, 1, 1);
        put(look, sqrtPriceX96, 20);
        put(look, second, 3);
        put(look, liquidity, 16);
        put(look, fee, 3);
        put(look, uint256(look.tickSpacing), 3);
    }

    /// Of the view whose first two words are the price and the tick: slot0(), unless a kind of pool has another.
    function priceSelector() internal pure virtual returns (uint256) {
        return 0x3850c7bd;
    }

    /// Of the view of a word of the bitmap: tickBitmap(int16).
    function bitmapSelector() internal pure virtual returns (uint256) {
        return 0x5339c296;
    }

    function feeOf(address pool) internal view virtual returns (uint256 fee) {
        (fee, ) = ask(pool, 0xddca3f43, 0); // fee()
    }

    // Slot0 and Pool.State of @uniswap/v4-core@1.0.2.
    /// Of a pool that is kept by a contract.
    function putStored(Look memory look) private view returns (int256 tick, uint256 liquidity) {
        uint256 slot0 = load(look.pool, look.stored);
        if (uint160(slot0) == 0) {
            look.tickSpacing = 0;
            put(look, 0, 1);
            return (0, 0);
        }
        tick = int256(int24(uint24(slot0 >> 160)));
        liquidity = uint128(load(look.pool, look.stored + 3));
        put(look, 1, 1);
        put(look, slot0, 20);
        put(look, slot0 >> 160, 3);
        put(look, liquidity, 16);
        put(look, slot0 >> 208, 3);
        put(look, uint256(look.tickSpacing), 3);
        put(look, slot0 >> 184, 3);
    }

    function bitmapOf(Look memory look, int256 word) private view returns (uint256 bitmap) {
        if (look.stored != 0) return load(look.pool, hash(uint256(word), look.stored + 5));
        (bitmap, ) = ask(look.pool, bitmapSelector(), word);
    }

    function liquidityAt(Look memory look, int256 tick) private view returns (uint256 gross, uint256 net) {
        if (look.stored == 0) return ask(look.pool, 0xf30dba93, tick); // ticks(int24)
        uint256 packed = load(look.pool, hash(uint256(tick), look.stored + 4));
        return (uint128(packed), packed >> 128);
    }

    function spacingOf(address pool) internal view virtual returns (int256) {
        (uint256 tickSpacing, ) = ask(pool, 0xd0c93a7c, 0); // tickSpacing()
        return int256(tickSpacing);
    }

    /// Where a mapping keeps a key. It allocates no memory: what was read stands behind all that is allocated.
    function hash(uint256 key, uint256 mappingSlot) private pure returns (uint256 slot) {
        assembly {
            mstore(0, key)
            mstore(32, mappingSlot)
            slot := keccak256(0, 64)
        }
    }

    function load(address target, uint256 slot) private view returns (uint256 value) {
        (value, ) = ask(target, 0x1e2eaeaf, int256(slot)); // extsload(bytes32)
    }

    /// A look has all gas but what the looks after it need at least, or as much as each of them where there is too little for that.
    function share(Look memory look, uint256 reserve, uint256 looks) private view {
        uint256 left = gasleft();
        if (left < reserve) {
            look.leastGas = left;
            return;
        }
        uint256 ofOthers = ((left - reserve) * (looks - 1)) / looks;
        uint256 enough = (looks - 1) * lookGas;
        look.leastGas = reserve + (enough < ofOthers ? enough : ofOthers);
    }

    /// One look, from this multiple of the tick spacing on.
    function walk(Look memory look, int256 from, bool up) private view {
        uint256 header = look.to;
        look.to += 6;
        (bool whole, uint256 count, int256 end) = readTicks(look, from, up);
        uint256 packed = (whole ? 1 << 40 : 0) | (count << 24) | uint24(int24(end));
        // The last write would reach into the ticks that follow.
        assembly {
            let kept := and(mload(header), sub(shl(208, 1), 1))
            mstore(header, or(shl(208, packed), kept))
        }
    }

    /// The initialised ticks from here on, and where those end of which anything is known: at one that was not read, or behind a word.
    /// Something is read even where there is no gas for it, so that a look that goes on there ends some time.
    function readTicks(Look memory look, int256 from, bool up) internal view virtual returns (bool whole, uint256 count, int256 end) {
        int256 word = from >> 8;
        uint256 within = up ? type(uint256).max << (uint256(from) & 255) : type(uint256).max >> (255 - (uint256(from) & 255));
        bool isFirst = true;
        for (uint256 words = 1; ; words++) {
            uint256 bitmap = bitmapOf(look, word) & within;
            within = type(uint256).max;
            while (bitmap != 0) {
                uint256 bit = highest(up ? bitmap & (~bitmap + 1) : bitmap);
                end = ((word << 8) + int256(bit)) * look.tickSpacing;
                if (count == look.ticks) return (true, count, end);
                if (!isFirst && gasleft() < look.leastGas) return (false, count, end);
                isFirst = false;
                (uint256 liquidityGross, uint256 liquidityNet) = liquidityAt(look, end);
                put(look, uint256(end), 3);
                put(look, liquidityGross, 16);
                put(look, liquidityNet, 16);
                count++;
                bitmap ^= 1 << bit;
            }
            isFirst = false;
            end = ((word << 8) + (up ? int256(256) : int256(-1))) * look.tickSpacing;
            bool isEnough = words >= look.words && (count > 0 || words >= look.emptyWords);
            if (isEnough || end < -mostTick || end > mostTick) return (true, count, end);
            if (gasleft() < look.leastGas) return (false, count, end);
            word += up ? int256(1) : int256(-1);
        }
    }

    /// The lowest bytes of a value, after what was put before.
    function put(Look memory look, uint256 value, uint256 size) internal pure {
        uint256 to = look.to;
        assembly {
            mstore(to, shl(sub(256, mul(8, size)), value))
        }
        look.to = to + size;
    }

    /// The first two words of an answer; 0 where there is none.
    function ask(address target, uint256 selector, int256 argument) internal view returns (uint256 first, uint256 second) {
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

    /// The third and fourth word of an answer; 0 where there are none. It allocates no memory: what was read stands behind all that is.
    function further(address target, uint256 selector, int256 argument) internal view returns (uint256 third, uint256 fourth) {
        assembly {
            mstore(0, shl(224, selector))
            mstore(4, argument)
            let ok := staticcall(gas(), target, 0, 36, 0, 0)
            if and(ok, gt(returndatasize(), 127)) {
                returndatacopy(0, 64, 64)
                third := mload(0)
                fourth := mload(32)
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
