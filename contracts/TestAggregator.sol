// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// A price that anybody may set, as Chainlink's aggregators give theirs (AggregatorV3Interface). For the devnet alone.
contract TestAggregator {
    uint8 public immutable decimals;
    uint80 private round;
    mapping(uint80 => int256) private answers;
    mapping(uint80 => uint256) private times;

    constructor(uint8 decimals_, int256 answer, uint256 since) {
        decimals = decimals_;
        put(answer, since);
    }

    function set(int256 answer) external {
        put(answer, block.timestamp);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return getRoundData(round);
    }

    function getRoundData(uint80 id) public view returns (uint80, int256, uint256, uint256, uint80) {
        return (id, answers[id], times[id], times[id], id);
    }

    function put(int256 answer, uint256 time) private {
        // Those who read it take no second answer for one time.
        if (round == 0 || times[round] != time) round++;
        answers[round] = answer;
        times[round] = time;
    }
}
