// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct SwapParams {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

/// For tests: hooks of a pool of Uniswap v4 that do before a swap what nobody could foresee.
contract TestHooks {
    enum Mode {
        Nothing,
        Refuses,
        SpendsAllGas,
        SetsFee,
        SetsFeeByBlock,
        SetsFeeByAmount,
        Lies
    }

    // LPFeeLibrary of @uniswap/v4-core@1.0.2: this fee instead of the pool's.
    uint24 private constant overrides = 0x400000;

    Mode public mode;
    uint24 public fee;

    function set(Mode mode_, uint24 fee_) external {
        (mode, fee) = (mode_, fee_);
    }

    function beforeSwap(
        address sender,
        PoolKey calldata,
        SwapParams calldata params,
        bytes calldata
    ) external view returns (bytes4, int256, uint24) {
        bytes4 selector = this.beforeSwap.selector;
        require(mode != Mode.Refuses, "no");
        if (mode == Mode.SpendsAllGas) while (gasleft() > 0) {}
        if (mode == Mode.Lies) {
            // It tries to have the callback of a trial answer to it, and passes on what that says; else it makes something up.
            (, bytes memory reason) = sender.staticcall(abi.encodeWithSelector(0xfa461e33, int256(1), -int256(10 ** 30), ""));
            if (reason.length == 0) reason = abi.encodeWithSignature("Swapped(bytes32,int256,int256)", 0, int256(1), -int256(10 ** 30));
            assembly {
                revert(add(reason, 32), mload(reason))
            }
        }
        if (mode == Mode.SetsFee) return (selector, 0, fee | overrides);
        if (mode == Mode.SetsFeeByBlock) return (selector, 0, (fee + uint24(block.number % 1000)) | overrides);
        if (mode == Mode.SetsFeeByAmount) return (selector, 0, (fee + uint24(uint256(params.amountSpecified) % 1000)) | overrides);
        return (selector, 0, 0);
    }
}
