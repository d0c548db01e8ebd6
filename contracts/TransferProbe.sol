// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
}

/// Finds out what a token takes on the way out of a pool and back. Meant for `eth_call` as creation code: what the
/// constructor returns is (bool measured, uint256 arrived, bool accepted, uint256 returned). Nothing is ever deployed.
///
/// `lend` is the call by which the pool sends some of the token and then calls back, wanting to be paid. Whom it is to be
/// sent to goes into the word of the call at `recipientAt`.
contract TransferProbe {
    constructor(address pool, address token, bytes memory lend, uint256 recipientAt) {
        // A pool calls back only what has code, and this has none before its constructor is done.
        bytes memory result = new Borrower().borrow(pool, token, lend, recipientAt);
        assembly {
            return(add(result, 32), mload(result))
        }
    }
}

contract Borrower {
    error Measured(uint256 arrived, bool accepted, uint256 returned);

    address private token;
    uint256 private held;

    function borrow(address pool, address token_, bytes memory lend, uint256 recipientAt) external returns (bytes memory) {
        token = token_;
        held = IToken(token_).balanceOf(address(this));
        assembly {
            mstore(add(add(lend, 32), recipientAt), address())
        }
        (bool ok, bytes memory reason) = pool.call(lend);
        if (ok || reason.length != 100 || bytes4(reason) != Measured.selector) return abi.encode(false, 0, false, 0);
        (uint256 arrived, bool accepted, uint256 returned) = decode(reason);
        return abi.encode(true, arrived, accepted, returned);
    }

    /// The pool's callback, which every fork names in its own way. Reverting hands the measures back and undoes the loan.
    fallback() external {
        uint256 arrived = IToken(token).balanceOf(address(this)) - held;
        uint256 before = IToken(token).balanceOf(msg.sender);
        (bool ok, bytes memory answer) = token.call(abi.encodeWithSignature("transfer(address,uint256)", msg.sender, arrived));
        bool accepted = ok && (answer.length == 0 || (answer.length >= 32 && abi.decode(answer, (uint256)) != 0));
        uint256 afterwards = IToken(token).balanceOf(msg.sender);
        revert Measured(arrived, accepted, afterwards > before ? afterwards - before : 0);
    }

    function decode(bytes memory reason) private pure returns (uint256 arrived, bool accepted, uint256 returned) {
        assembly {
            arrived := mload(add(reason, 36))
            accepted := mload(add(reason, 68))
            returned := mload(add(reason, 100))
        }
    }
}
