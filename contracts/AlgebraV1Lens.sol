// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {PoolLens} from "./PoolLens.sol";

// IAlgebraPoolState and IAlgebraPoolImmutables of @cryptoalgebra/v1-core@1.0.0.
/// Reads pools of Algebra 1.0 as PoolLens reads those of Uniswap v3. The third word of their globalState is the fee.
contract AlgebraV1Lens is PoolLens {
    constructor(bytes32[] memory wanted) PoolLens(wanted) {}

    /// globalState()
    function priceSelector() internal pure override returns (uint256) {
        return 0xe76c01e4;
    }

    /// tickTable(int16)
    function bitmapSelector() internal pure override returns (uint256) {
        return 0xc677e3e0;
    }

    function feeOf(address pool) internal view override returns (uint256 fee) {
        (fee, ) = further(pool, priceSelector(), 0);
    }
}
