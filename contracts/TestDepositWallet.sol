// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

interface IToken {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// Stands in tests for Circle's CoreDepositWallet on HyperEVM: the same call, and the events that the exchange credits deposits by.
contract TestDepositWallet {
    IToken private immutable token;

    event Transfer(address indexed from, address indexed to, uint256 amount);
    event SendAsset(address indexed coreRecipient, uint64 coreAmount);

    constructor(IToken token_) {
        token = token_;
    }

    /// @param amount in 6 decimals; the exchange reckons in 8
    function deposit(uint256 amount, uint32 destinationDex) external {
        require(amount > 0, "Amount must be greater than zero");
        require(token.transferFrom(msg.sender, address(this), amount), "Transfer operation failed");
        bool isPerp = destinationDex == 0;
        emit Transfer(isPerp ? address(this) : msg.sender, 0x2000000000000000000000000000000000000000, amount);
        if (isPerp) emit SendAsset(msg.sender, uint64(amount * 100));
    }
}
