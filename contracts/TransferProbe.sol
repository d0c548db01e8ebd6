// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
}

interface IPair {
    function token0() external view returns (address);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

/// Finds out what a token takes on the way out of a Uniswap v2 pair and back. Meant for `eth_call` as creation code: what
/// the constructor returns is (bool measured, uint256 arrived, bool accepted, uint256 returned). Nothing is ever deployed.
contract TransferProbe {
    constructor(address pair, address token, uint256 amount) {
        // A pair calls back only what has code, and this has none before its constructor is done.
        bytes memory result = new Borrower().borrow(pair, token, amount);
        assembly {
            return(add(result, 32), mload(result))
        }
    }
}

contract Borrower {
    error Measured(uint256 arrived, bool accepted, uint256 returned);

    address private token;
    uint256 private held;

    function borrow(address pair, address token_, uint256 amount) external returns (bytes memory) {
        token = token_;
        held = IToken(token_).balanceOf(address(this));
        bool first = IPair(pair).token0() == token_;
        try IPair(pair).swap(first ? amount : 0, first ? 0 : amount, address(this), hex"01") {
            return abi.encode(false, 0, false, 0);
        } catch (bytes memory reason) {
            if (reason.length != 100 || bytes4(reason) != Measured.selector) return abi.encode(false, 0, false, 0);
            (uint256 arrived, bool accepted, uint256 returned) = decode(reason);
            return abi.encode(true, arrived, accepted, returned);
        }
    }

    /// The pair's callback, which every fork names in its own way. Reverting hands the measures back and undoes the swap.
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
