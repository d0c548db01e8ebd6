// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

interface Vault {
    function getPausedState() external view returns (bool paused, uint256 windowEnds, uint256 bufferEnds);
    function getPoolTokens(bytes32 id) external view returns (address[] memory tokens, uint256[] memory balances, uint256 changed);
}

interface WeightedPool {
    function getNormalizedWeights() external view returns (uint256[] memory);
    function getPausedState() external view returns (bool paused, uint256 windowEnds, uint256 bufferEnds);
    function getScalingFactors() external view returns (uint256[] memory);
    function getSwapFeePercentage() external view returns (uint256);
}

interface Token {
    function decimals() external view returns (uint256);
}

/// Reads weighted pools of a Vault. Meant to run as creation code inside `eth_call`: it reverts with what it saw, and nothing
/// is ever deployed. Of every pool comes a `Seen`, without tokens where there is no such pool.
contract WeightedLens {
    struct Seen {
        address[] tokens;
        uint256[] balances;
        uint256[] weights;
        uint256[] decimals;
        uint256 swapFee;
        // Pools since the second version say it, and those take simple powers without logarithms.
        bool hasScalingFactors;
        Pause ofPool;
        Pause ofVault;
    }

    /// A pause is over when it is taken back, and in any case after the buffer.
    struct Pause {
        bool paused;
        uint256 bufferEnds;
    }

    constructor(Vault vault, bytes32[] memory ids) {
        Seen[] memory seen = new Seen[](ids.length);
        (bool isVault, Pause memory ofVault) = pauseOf(address(vault));
        if (isVault) {
            for (uint256 i = 0; i < ids.length; i++) {
                seen[i].ofVault = ofVault;
                look(vault, ids[i], seen[i]);
            }
        }
        bytes memory answer = abi.encode(seen);
        assembly {
            revert(add(answer, 32), mload(answer))
        }
    }

    function look(Vault vault, bytes32 id, Seen memory seen) private view {
        // The pool's address is the first part of its id.
        WeightedPool pool = WeightedPool(address(bytes20(id)));
        bool isPool;
        (isPool, seen.ofPool) = pauseOf(address(pool));
        if (!isPool) return;
        // Only weighted pools have weights.
        try pool.getNormalizedWeights() returns (uint256[] memory weights) {
            seen.weights = weights;
        } catch {
            return;
        }
        try pool.getScalingFactors() returns (uint256[] memory) {
            seen.hasScalingFactors = true;
        } catch {}
        try vault.getPoolTokens(id) returns (address[] memory tokens, uint256[] memory balances, uint256) {
            (seen.tokens, seen.balances) = (tokens, balances);
        } catch {}
        seen.swapFee = pool.getSwapFeePercentage();
        seen.decimals = new uint256[](seen.tokens.length);
        for (uint256 i = 0; i < seen.tokens.length; i++) seen.decimals[i] = Token(seen.tokens[i]).decimals();
    }

    /// What does not say whether it is paused is no such contract.
    function pauseOf(address target) private view returns (bool says, Pause memory pause) {
        if (target.code.length == 0) return (false, pause);
        try WeightedPool(target).getPausedState() returns (bool paused, uint256, uint256 bufferEnds) {
            return (true, Pause(paused, bufferEnds));
        } catch {
            return (false, pause);
        }
    }
}
