// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "./TestToken.sol";

/// Burns 2 % of whatever is moved, so that the receiver gets less than was sent.
contract FeeOnTransferToken is TestToken {
    constructor(string memory name_, string memory symbol_, uint8 decimals_) TestToken(name_, symbol_, decimals_) {}

    function _move(address from, address to, uint256 value) internal override {
        uint256 fee = value * 2 / 100;
        super._move(from, to, value - fee);
        super._move(from, address(0), fee);
        balanceOf[address(0)] -= fee;
        totalSupply -= fee;
    }
}
