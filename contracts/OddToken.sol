// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "./TestToken.sol";

/// For tests: a token that changes its mind between a quote and its trade.
contract OddToken is TestToken {
    bool public paused;
    address private called;
    bytes private data;
    address private refused;
    uint256 private fromReceiver;
    uint256 private fromSender;
    bool private isTold;
    address private taxed;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) TestToken(name_, symbol_, decimals_) {}

    function pause(bool paused_) external {
        paused = paused_;
    }

    /// Nothing of it is taken there.
    function refuse(address to) external {
        refused = to;
    }

    /// What everybody has changes without a transfer.
    function rebase(address holder, uint256 balance) external {
        balanceOf[holder] = balance;
    }

    /// Is called with every transfer, whatever comes of it.
    function callBack(address called_, bytes calldata data_) external {
        (called, data) = (called_, data_);
    }

    /// Takes percents of what is moved from its receiver, and from its sender beside it; its events tell so or not.
    function tax(uint256 fromReceiver_, uint256 fromSender_, bool isTold_) external {
        (fromReceiver, fromSender, isTold) = (fromReceiver_, fromSender_, isTold_);
    }

    /// Takes them of what is moved from there alone.
    function taxOnly(address from) external {
        taxed = from;
    }

    /// As this contract, so that it can approve what it trades with in its callback.
    function act(address to, bytes calldata with) external {
        (bool ok, ) = to.call(with);
        require(ok, "failed");
    }

    function _move(address from, address to, uint256 value) internal override {
        require(!paused && (refused == address(0) || to != refused), "paused");
        super._move(from, to, value);
        if (taxed == address(0) || from == taxed) {
            _take(to, value * fromReceiver / 100);
            _take(from, value * fromSender / 100);
        }
        if (called == address(0) || from == address(this)) return;
        (bool ok, ) = called.call(data);
        ok;
    }

    function _take(address holder, uint256 value) private {
        if (value == 0) return;
        if (isTold) {
            super._move(holder, address(0xdead), value);
        } else {
            balanceOf[holder] -= value;
            balanceOf[address(0xdead)] += value;
        }
    }
}
