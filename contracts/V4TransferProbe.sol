// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
}

// Of IPoolManager, @uniswap/v4-core@1.0.2.
interface IPoolManager {
    function unlock(bytes calldata data) external returns (bytes memory);
    function take(address currency, address to, uint256 amount) external;
}

/// As TransferProbe, for the PoolManager of Uniswap v4: it calls back first, and lends what it is asked for then. Meant for `eth_call`
/// as creation code: what the constructor returns is (bool measured, uint256 arrived, bool accepted, uint256 returned).
contract V4TransferProbe {
    constructor(address manager, address token, uint256 amount) {
        // The manager calls back only what has code, and this has none before its constructor is done.
        bytes memory result = new V4Borrower().borrow(manager, token, amount);
        assembly {
            return(add(result, 32), mload(result))
        }
    }
}

contract V4Borrower {
    error Measured(uint256 arrived, bool accepted, uint256 returned);

    function borrow(address manager, address token, uint256 amount) external returns (bytes memory) {
        (bool ok, bytes memory reason) = manager.call(abi.encodeCall(IPoolManager.unlock, (abi.encode(token, amount))));
        if (ok || reason.length != 100 || bytes4(reason) != Measured.selector) return abi.encode(false, 0, false, 0);
        (uint256 arrived, bool accepted, uint256 returned) = decode(reason);
        return abi.encode(true, arrived, accepted, returned);
    }

    /// Reverting hands the measures back and undoes the loan.
    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        (address token, uint256 amount) = abi.decode(data, (address, uint256));
        uint256 held = IToken(token).balanceOf(address(this));
        IPoolManager(msg.sender).take(token, address(this), amount);
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
