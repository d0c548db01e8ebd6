// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// For tests: a plugin of a pool of Algebra Integral that does before a swap what nobody could foresee.
contract TestPoolPlugin {
    enum Mode {
        Nothing,
        Refuses,
        SpendsAllGas,
        SetsFee,
        SetsFeeByBlock,
        SetsFeeByAmount,
        Charges,
        Lies
    }

    Mode public mode;
    uint24 public fee;

    function set(Mode mode_, uint24 fee_) external {
        (mode, fee) = (mode_, fee_);
    }

    function beforeSwap(
        address sender,
        address,
        bool,
        int256 amountRequired,
        uint160,
        bool,
        bytes calldata
    ) external view returns (bytes4, uint24, uint24) {
        bytes4 selector = this.beforeSwap.selector;
        require(mode != Mode.Refuses, "no");
        if (mode == Mode.SpendsAllGas) while (gasleft() > 0) {}
        if (mode == Mode.Lies) {
            // It tries to have the callback of a trial answer to it, and passes on what that says; else it makes something up.
            (, bytes memory reason) = sender.staticcall(abi.encodeWithSelector(0x2c8958f6, int256(1), -int256(10 ** 30), ""));
            if (reason.length == 0) reason = abi.encodeWithSignature("Swapped(bytes32,int256,int256)", 0, int256(1), -int256(10 ** 30));
            assembly {
                revert(add(reason, 32), mload(reason))
            }
        }
        if (mode == Mode.SetsFee) return (selector, fee, 0);
        if (mode == Mode.SetsFeeByBlock) return (selector, fee + uint24(block.number % 1000), 0);
        if (mode == Mode.SetsFeeByAmount) return (selector, fee + uint24(uint256(amountRequired) % 1000), 0);
        if (mode == Mode.Charges) return (selector, 0, fee);
        return (selector, 0, 0);
    }

    function handlePluginFee(uint256, uint256) external pure returns (bytes4) {
        return this.handlePluginFee.selector;
    }
}
