// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {PoolLens} from "./PoolLens.sol";

// IAlgebraPool of @cryptoalgebra/integral-core@1.2.10.
/// Reads pools of Algebra Integral as PoolLens reads those of Uniswap v3. Their initialised ticks are a list that is linked in both
/// directions, so that the words of a question mean nothing. Behind the tickSpacing of a pool comes its pluginConfig (3), and 1 where the
/// code of its plugin is one that is published, else 0 (3). A look that came to the end of the list ends one tick beyond the last possible
/// one.
contract AlgebraLens is PoolLens {
    // AlgebraBasePluginV1 and AlgebraBasePluginV2 of @cryptoalgebra/integral-base-plugin@1.2.1: how long their code is, where its immutables
    // are (two bytes for each place), and its hash with zeros there.
    uint256 private constant sizeOfV1 = 16215;
    uint256 private constant placesOfV1 = 0x01cb029409740a781321159e178f180818eb196a2c83;
    bytes32 private constant hashOfV1 = 0xad5c8250724e7bc7fdad6c421f9a25985b85c5f2c7814be508a9e7bbd3417b5b;
    uint256 private constant sizeOfV2 = 16068;
    uint256 private constant placesOfV2 = 0x01e102be08fc0a00131013a117e418ad193a1a1d2bcf;
    bytes32 private constant hashOfV2 = 0xb6446e1a996b4548fc8293dc06218c253c91361bf05c721cfd388332c682ce53;

    constructor(bytes32[] memory wanted) PoolLens(wanted) {}

    function putPool(Look memory look) internal view override returns (int256 tick, uint256 liquidity) {
        (uint256 sqrtPriceX96, uint256 second) = ask(look.pool, 0xe76c01e4, 0); // globalState()
        tick = int256(second);
        if (sqrtPriceX96 == 0) {
            look.tickSpacing = 0;
            put(look, 0, 1);
            return (tick, 0);
        }
        (uint256 fee, uint256 pluginConfig) = further(look.pool, 0xe76c01e4, 0);
        (liquidity, ) = ask(look.pool, 0x1a686502, 0); // liquidity()
        (uint256 tickSpacing, ) = ask(look.pool, 0xd0c93a7c, 0); // tickSpacing()
        put(look, 1, 1);
        put(look, sqrtPriceX96, 20);
        put(look, second, 3);
        put(look, liquidity, 16);
        put(look, fee, 3);
        put(look, tickSpacing, 3);
        put(look, pluginConfig, 3);
        put(look, hasPublishedPlugin(look) ? 1 : 0, 3);
        look.tickSpacing = 1;
    }

    /// It allocates no memory: what is written behind all that was read is overwritten by what is read next.
    function hasPublishedPlugin(Look memory look) private view returns (bool) {
        (uint256 plugin, ) = ask(look.pool, 0xef01df4f, 0); // plugin()
        uint256 size;
        assembly {
            size := extcodesize(plugin)
        }
        bool isV1 = size == sizeOfV1;
        if (!isV1 && size != sizeOfV2) return false;
        uint256 places = isV1 ? placesOfV1 : placesOfV2;
        uint256 to = look.to;
        bytes32 found;
        assembly {
            extcodecopy(plugin, to, 0, size)
            for {} places { places := shr(16, places) } { mstore(add(to, and(places, 0xffff)), 0) }
            found := keccak256(to, size)
        }
        return found == (isV1 ? hashOfV1 : hashOfV2);
    }

    /// Ticks that are already in the list stay there when a pool gets another spacing.
    function spacingOf(address) internal pure override returns (int256) {
        return 1;
    }

    /// Begins at this tick where it is in the list, else at the one that is next to the price.
    function readTicks(Look memory look, int256 from, bool up) internal view override returns (bool whole, uint256 count, int256 end) {
        end = from;
        (uint256 gross, uint256 net) = ask(look.pool, 0xf30dba93, from); // ticks(int24)
        if (gross == 0 && from > -mostTick && from < mostTick) {
            (uint256 nearest, ) = ask(look.pool, up ? 0xd5c35a7e : 0x050a4d21, 0); // nextTickGlobal(), prevTickGlobal()
            end = int256(nearest);
        }
        for (bool isFirst = true; ; isFirst = false) {
            if (!isFirst && gasleft() < look.leastGas) return (false, count, end);
            (gross, net) = ask(look.pool, 0xf30dba93, end);
            if (gross != 0) {
                if (count == look.ticks) return (true, count, end);
                put(look, uint256(end), 3);
                put(look, gross, 16);
                put(look, net, 16);
                count++;
            }
            // The list goes to both ends of the range of ticks, whether there is liquidity or not.
            if (up ? end >= mostTick : end <= -mostTick) return (true, count, up ? mostTick + 1 : -mostTick - 1);
            (uint256 previous, uint256 next) = further(look.pool, 0xf30dba93, end);
            end = int256(up ? next : previous);
        }
    }
}
