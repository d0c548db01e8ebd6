// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

interface IPositions {
    function getTakerPositionSize(address trader, address baseToken) external view returns (int256);
}

interface IClearingHouse {
    struct OpenPositionParams {
        address baseToken;
        bool isBaseToQuote;
        bool isExactInput;
        uint256 amount;
        uint256 oppositeAmountBound;
        uint256 deadline;
        uint160 sqrtPriceLimitX96;
        bytes32 referralCode;
    }

    function openPosition(OpenPositionParams memory params) external returns (uint256 base, uint256 quote);
}

/// Asks Perpetual Protocol v2 to open a position for this code, which has no collateral: the exchange trades first and looks at
/// the collateral after that, so what it refuses with says whether the market takes the order. Meant for `eth_call` as creation
/// code. What the constructor reverts with is the exchange's answer; nothing is ever deployed.
contract PerpTrial {
    /// `size`: of base, above 0 to buy it. 0 stands for what closes the trader's position.
    constructor(address house, address positions, address baseToken, address trader, int256 size) {
        if (size == 0) size = -IPositions(positions).getTakerPositionSize(trader, baseToken);
        bool isLong = size > 0;
        IClearingHouse.OpenPositionParams memory params;
        params.baseToken = baseToken;
        // A size of base either way: exactly so much comes out, or goes in.
        params.isBaseToQuote = !isLong;
        params.isExactInput = !isLong;
        params.amount = uint256(isLong ? size : -size);
        params.deadline = type(uint256).max;
        (, bytes memory answer) = house.call(abi.encodeCall(IClearingHouse.openPosition, (params)));
        assembly {
            revert(add(answer, 32), mload(answer))
        }
    }
}
