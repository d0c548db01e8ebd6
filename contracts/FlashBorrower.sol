// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

interface Token {
    function transfer(address to, uint256 value) external returns (bool);
}

interface Pool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function flash(address recipient, uint256 amount0, uint256 amount1, bytes calldata data) external;
}

/// For tests: borrows from pools of concentrated liquidity for a moment, and pays the fee out of its own purse.
contract FlashBorrower {
    function borrow(Pool pool, uint256 amount0, uint256 amount1) external {
        pool.flash(address(this), amount0, amount1, abi.encode(amount0, amount1));
    }

    /// Forks give the callback names of their own: (uint256 fee0, uint256 fee1, bytes data).
    fallback() external {
        (uint256 fee0, uint256 fee1, bytes memory data) = abi.decode(msg.data[4:], (uint256, uint256, bytes));
        (uint256 amount0, uint256 amount1) = abi.decode(data, (uint256, uint256));
        Token(Pool(msg.sender).token0()).transfer(msg.sender, amount0 + fee0);
        Token(Pool(msg.sender).token1()).transfer(msg.sender, amount1 + fee1);
    }
}
