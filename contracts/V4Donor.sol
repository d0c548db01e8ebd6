// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

interface PoolManager {
    function unlock(bytes calldata data) external returns (bytes memory);
    function donate(PoolKey memory key, uint256 amount0, uint256 amount1, bytes calldata hookData) external returns (int256 delta);
    function sync(address currency) external;
    function settle() external payable returns (uint256 paid);
}

/// For tests: gives to the liquidity providers of a pool of Uniswap v4, out of its own purse.
contract V4Donor {
    receive() external payable {}

    function donate(PoolManager manager, PoolKey calldata key, uint256 amount0, uint256 amount1) external {
        manager.unlock(abi.encode(key, amount0, amount1));
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        PoolManager manager = PoolManager(msg.sender);
        (PoolKey memory key, uint256 amount0, uint256 amount1) = abi.decode(data, (PoolKey, uint256, uint256));
        manager.donate(key, amount0, amount1, "");
        pay(manager, key.currency0, amount0);
        pay(manager, key.currency1, amount1);
        return "";
    }

    function pay(PoolManager manager, address currency, uint256 amount) private {
        manager.sync(currency);
        if (currency == address(0)) {
            manager.settle{value: amount}();
            return;
        }
        // Some tokens return nothing.
        (bool success, ) = currency.call(abi.encodeWithSignature("transfer(address,uint256)", msg.sender, amount));
        require(success);
        manager.settle();
    }
}
