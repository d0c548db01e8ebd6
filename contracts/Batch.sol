// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Multicall3's aggregate3 with creation code among the calls. Meant for `eth_call` as creation code: what the constructor
/// gives is (bool ok, bytes data)[]. Nothing is ever deployed.
contract Batch {
    /// `code`: 0 for a call, else which of the codes runs, from 1 on, with `data` behind it.
    struct Item {
        address target;
        uint256 code;
        bytes data;
    }

    struct Result {
        bool ok;
        bytes data;
    }

    constructor(bytes[] memory codes, Item[] memory items) {
        Result[] memory results = new Result[](items.length);
        for (uint256 i = 0; i < items.length; i++) {
            Item memory item = items[i];
            if (item.code == 0) (results[i].ok, results[i].data) = item.target.call(item.data);
            else (results[i].ok, results[i].data) = run(bytes.concat(codes[item.code - 1], item.data));
        }
        bytes memory answer = abi.encode(results);
        // What a constructor returns is bounded as a contract's code is (EIP-170), and paid for; what it reverts with is not.
        assembly {
            let size := mload(answer)
            if gt(size, 24576) {
                revert(add(answer, 32), size)
            }
            return(add(answer, 32), size)
        }
    }

    /// What the code reverts with is its result; without any it has failed.
    function run(bytes memory code) private returns (bool ok, bytes memory data) {
        address created;
        assembly {
            created := create(0, add(code, 32), mload(code))
            data := mload(64)
            mstore(64, add(data, and(add(returndatasize(), 63), not(31))))
            mstore(data, returndatasize())
            returndatacopy(add(data, 32), 0, returndatasize())
        }
        ok = created == address(0) && data.length > 0;
    }
}
