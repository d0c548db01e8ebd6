// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

interface Token {
    function transfer(address to, uint256 value) external returns (bool);
}

interface Pool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function initialize(uint160 sqrtPriceX96) external;
    function mint(address recipient, int24 tickLower, int24 tickUpper, uint128 amount, bytes calldata data) external returns (uint256, uint256);
    function burn(int24 tickLower, int24 tickUpper, uint128 amount) external returns (uint256, uint256);
    function swap(address recipient, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96, bytes calldata data) external returns (int256, int256);
}

/// For tests: makes pools of PancakeSwap's code as its deployer does, and trades with them out of its own purse. The package
/// has the pool's code, and neither the deployer's nor a router's.
contract PancakePoolDesk {
    struct Parameters {
        address factory;
        address token0;
        address token1;
        uint24 fee;
        int24 tickSpacing;
    }

    /// A pool asks for them while it is made.
    Parameters public parameters;

    function make(bytes memory creationCode, Parameters calldata wanted, uint160 sqrtPriceX96) external returns (address pool) {
        parameters = wanted;
        bytes32 salt = keccak256(abi.encode(wanted.token0, wanted.token1, wanted.fee));
        assembly {
            pool := create2(0, add(creationCode, 32), mload(creationCode), salt)
        }
        require(pool != address(0), "no pool");
        delete parameters;
        Pool(pool).initialize(sqrtPriceX96);
    }

    function add(Pool pool, int24 tickLower, int24 tickUpper, uint128 liquidity) external {
        pool.mint(address(this), tickLower, tickUpper, liquidity, "");
    }

    function remove(Pool pool, int24 tickLower, int24 tickUpper, uint128 liquidity) external {
        pool.burn(tickLower, tickUpper, liquidity);
    }

    function swap(Pool pool, bool zeroForOne, int256 amount, uint160 sqrtPriceLimitX96) external returns (int256, int256) {
        return pool.swap(address(this), zeroForOne, amount, sqrtPriceLimitX96, "");
    }

    function pancakeV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata) external {
        pay(amount0, amount1);
    }

    function pancakeV3SwapCallback(int256 amount0, int256 amount1, bytes calldata) external {
        pay(amount0 > 0 ? uint256(amount0) : 0, amount1 > 0 ? uint256(amount1) : 0);
    }

    function pay(uint256 amount0, uint256 amount1) private {
        if (amount0 > 0) Token(Pool(msg.sender).token0()).transfer(msg.sender, amount0);
        if (amount1 > 0) Token(Pool(msg.sender).token1()).transfer(msg.sender, amount1);
    }
}
